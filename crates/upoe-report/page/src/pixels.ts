// A filter, a pattern or a row drawn as an image.

import { css, diverging } from "./colour";
import { h, s } from "./dom";
import { Picture } from "./picture";
import type { Store } from "./store";

export type Shape = { height: number; width: number };

/** With `sign`, colours show values above and below zero; otherwise greys show smallest to largest. */
export function pixelPicture(title: string, of: string, values: () => Float32Array, shape: Shape, sign: boolean, store: Store): Picture {
  const draw = (picture: Picture): void => {
    const { svg, width, height } = picture;
    const pixels = values();
    const canvas = h("canvas", { width: shape.width, height: shape.height });
    const context = canvas.getContext("2d")!;
    let least = Infinity;
    let most = -Infinity;
    for (const value of pixels) {
      if (value < least) least = value;
      if (value > most) most = value;
    }
    const size = Math.max(Math.abs(least), Math.abs(most)) || 1;
    for (let at = 0; at < shape.width * shape.height; at++) {
      const value = pixels[at] ?? NaN;
      const grey = Math.round((255 * (value - least)) / (most - least || 1));
      context.fillStyle = sign ? css(diverging(value / size)) : css([grey, grey, grey]);
      context.fillRect(at % shape.width, Math.floor(at / shape.width), 1, 1);
    }
    const wide = Math.min(width, (height * shape.width) / shape.height);
    svg.append(s("image", { href: canvas.toDataURL(), x: 0, y: 0, width: wide, height: (wide * shape.height) / shape.width, class: "pixels" }));
    picture.describe(sign ? "Orange for values above zero, blue for values below zero." : "The row as an image.");
  };
  const picture = new Picture({
    title,
    of,
    class: "pixels",
    height: (width) => Math.min(280, (width * shape.height) / shape.width),
    draw,
  });
  store.on(["theme"], () => picture.redraw());
  return picture;
}
