// Saves a picture as a file: SVG with its styles inlined, or PNG.

import { h, s } from "./dom";

const STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linecap",
  "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor",
  "dominant-baseline", "image-rendering", "paint-order",
];

/** A copy of the picture that needs no style sheet. Its canvas becomes an image. */
function standalone(svg: SVGSVGElement, canvas: HTMLCanvasElement | null): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, at) => {
    const style = getComputedStyle(originals[at]);
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      if (value) element.setAttribute(name, value);
    }
    element.removeAttribute("class");
    element.removeAttribute("tabindex");
  });
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.removeAttribute("class");
  if (canvas) copy.prepend(s("image", { href: canvas.toDataURL("image/png"), x: 0, y: 0, width, height }));
  const background = getComputedStyle(document.documentElement).getPropertyValue("--surface").trim();
  copy.prepend(s("rect", { x: 0, y: 0, width, height, fill: background }));
  return copy;
}

export function download(content: Blob, name: string): void {
  const href = URL.createObjectURL(content);
  const link = h("a", { href, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

const fileName = (title: string, extension: string): string =>
  `${title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60) || "picture"}.${extension}`;

export function saveSvg(svg: SVGSVGElement, canvas: HTMLCanvasElement | null, title: string): void {
  const text = new XMLSerializer().serializeToString(standalone(svg, canvas));
  download(new Blob([text], { type: "image/svg+xml" }), fileName(title, "svg"));
}

export async function savePng(svg: SVGSVGElement, canvas: HTMLCanvasElement | null, title: string): Promise<void> {
  const text = new XMLSerializer().serializeToString(standalone(svg, canvas));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const { width, height } = svg.viewBox.baseVal;
  const scale = 2;
  const target = h("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
  target.getContext("2d")!.drawImage(image, 0, 0, target.width, target.height);
  const blob = await new Promise<Blob | null>((resolve) => target.toBlob(resolve, "image/png"));
  if (blob) download(blob, fileName(title, "png"));
}
