// Goodness of fit: quantiles of the data against quantiles of the fitted density.

import { floats } from "./data";
import { s } from "./dom";
import { extent, linear } from "./number";
import { axisX, axisY, line, Picture, publish } from "./picture";
import type { Expert } from "./schema";

export function quantilePlot(expert: Expert, of: string): Picture {
  const model = floats(expert.quantiles.model);
  const data = floats(expert.quantiles.data);
  const low = floats(expert.quantiles.low);
  const high = floats(expert.quantiles.high);
  let outside = 0;
  for (let i = 0; i < low.length; i++) if (data[i] < low[i] || data[i] > high[i]) outside++;
  const draw = (picture: Picture): void => {
    const { svg, width, height } = picture;
    const box = { left: 34, right: width - 6, top: 34, bottom: height - 38 };
    // Both axes have the same scale, set by the points. The band may be cut off at its ends.
    const [a, b] = extent(model, data);
    const pad = (b - a) * 0.04;
    const x = linear([a - pad, b + pad], [box.left, box.right]);
    const y = linear([a - pad, b + pad], [box.bottom, box.top]);
    publish(svg, box, x, y);
    axisY(svg, box, y, "data quantile");
    axisX(svg, box, x, "model quantile");
    const clamp = (values: Float32Array): number[] => Array.from(values, (value) => Math.min(b + pad, Math.max(a - pad, value)));
    if (low.length) {
      const there = line(model, clamp(low), x, y);
      const back = line([...model].reverse(), clamp(high).reverse(), x, y).replace("M", "L");
      svg.append(s("path", { class: "band", d: `${there}${back}Z` }));
    }
    svg.append(s("line", { class: "diagonal", x1: x(a), y1: y(a), x2: x(b), y2: y(b) }));
    let dots = "";
    for (let i = 0; i < model.length; i++) {
      const [px, py] = [x(model[i]), y(data[i])];
      if (Number.isFinite(px + py)) dots += `M${px.toFixed(1)},${py.toFixed(1)}h.01`;
    }
    svg.append(s("path", { class: "dots", d: dots }));
    picture.describe(
      `${model.length} quantiles of the data against quantiles of the fitted density. They agree on the diagonal.` +
        (low.length ? ` ${outside} lie outside the 95 % band.` : ""),
    );
  };
  return new Picture({ title: "Q–Q plot", of, class: "qq", height: (width) => Math.min(300, width), draw });
}
