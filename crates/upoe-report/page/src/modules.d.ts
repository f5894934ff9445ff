declare module "*.css";
/** Words of docs/glossary.md and what they mean; build.mjs puts it in. */
declare const GLOSSARY: Record<string, string>;
