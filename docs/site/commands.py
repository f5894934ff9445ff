"""The reference of the command, from its own help."""

import re
import subprocess

# A section of the help, an option or argument with its text, and what ends the options.
SECTION = re.compile(r"(\S.*):$")
ITEM = re.compile(r" {2,6}([-<\[]\S*(?: \S+)*)(?:  +(\S.*))?$")
VERB = re.compile(r"  (\w+) {2,}\S")


def help_of(command, *verbs):
    return subprocess.run([command, *verbs, "--help"], capture_output=True, text=True, check=True).stdout


def verbs(text):
    """The verbs that a help text lists, without `help`."""
    listed = text.split("Commands:\n")[1].split("\n\n")[0]
    return [name for name in VERB.findall(listed) if name != "help"]


def escaped(text):
    """Text in which only backticks mean something."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([\\*_<>\[\]|])", r"\\\1", p) for p in parts)


def page(name, text):
    """A page from the help text of a verb."""
    about, rest = text.split("\nUsage: ", 1)
    usage, rest = rest.split("\n", 1)
    options, examples, _ = rest.partition("\nExamples:\n")
    lines = [f"# {name}", "", escaped(" ".join(about.split())), "", "```text", usage, "```", ""]
    item = False
    for line in options.splitlines():
        if heading := SECTION.match(line):
            lines += [f"## {heading[1]}", ""]
        elif found := ITEM.match(line):
            lines += ["", f"`{found[1]}`", ": " + escaped(found[2] or "")]
            item = True
        elif line.strip() and item:
            lines[-1] += " " + escaped(line.strip())
        elif not line.strip():
            lines.append("")
    if examples:
        lines += ["## Examples", "", "```text", examples.rstrip(), "```"]
    return "\n".join(lines) + "\n"


def pages(command):
    """The page of each verb, by name."""
    found = {}
    for verb in verbs(help_of(command)):
        text = help_of(command, verb)
        found[verb] = page(f"upoe {verb}", text)
        if "Commands:\n" in text:
            found[verb] = f"# upoe {verb}\n\n```text\n{text}```\n"
            for below in verbs(text):
                found[f"{verb}-{below}"] = page(f"upoe {verb} {below}", help_of(command, verb, below))
    return found
