// Line charts as SVG, for learning curves.

import { h, s } from "./dom.js";

const WIDE = 640;
const HIGH = 300;
const EDGE = { left: 66, right: 24, top: 14, bottom: 60 };

/** @param {number} value */
const short = (value) => {
  if (Math.abs(value) >= 1e6) return `${(value / 1e6).toFixed(value % 1e6 ? 1 : 0)} M`;
  if (Math.abs(value) >= 1e3) return `${Math.round(value / 1e3)} k`;
  return String(Math.round(value * 100) / 100);
};

/**
 * @param {number} low
 * @param {number} high
 * @param {number} many
 */
function ticks(low, high, many) {
  const rough = (high - low) / many || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((factor) => factor >= rough) ?? rough;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(at);
  return found;
}

/**
 * Return a chart of points [x, y, margin or null], with a band where margins are known.
 * @param {Wire.Point[]} points
 * @param {{ title: string, unit: string }} given
 */
export function lineChart(points, given) {
  const xs = points.map((point) => point[0]);
  const lows = points.map((point) => point[1] - (point[2] ?? 0));
  const highs = points.map((point) => point[1] + (point[2] ?? 0));
  const [x0, x1] = [Math.min(0, ...xs), Math.max(...xs)];
  const pad = (Math.max(...highs) - Math.min(...lows)) * 0.06 || 1;
  const [y0, y1] = [Math.min(...lows) - pad, Math.max(...highs) + pad];
  const x = (/** @type {number} */ value) =>
    EDGE.left + ((value - x0) / (x1 - x0 || 1)) * (WIDE - EDGE.left - EDGE.right);
  const y = (/** @type {number} */ value) =>
    HIGH - EDGE.bottom - ((value - y0) / (y1 - y0 || 1)) * (HIGH - EDGE.top - EDGE.bottom);
  const line = (/** @type {number[][]} */ values) =>
    values.map(([a, b]) => `${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("L");
  const band = points.some((point) => point[2] !== null)
    ? s("path", {
        class: "band",
        d: `M${line(points.map((point, k) => [point[0], highs[k]]))}L${line(points.map((point, k) => [point[0], lows[k]]).reverse())}Z`,
      })
    : null;
  const last = points[points.length - 1];
  return h(
    "figure",
    {},
    s(
      "svg",
      {
        class: "chart",
        viewBox: `0 0 ${WIDE} ${HIGH}`,
        role: "img",
        "aria-label": `${given.title}: from ${short(points[0][1])} to ${short(last[1])} after ${short(last[0])} ${given.unit}`,
      },
      ticks(y0, y1, 4).map((value) => [
        s("line", {
          class: "axis",
          x1: EDGE.left,
          x2: WIDE - EDGE.right,
          y1: y(value),
          y2: y(value),
        }),
        s("text", { x: EDGE.left - 6, y: y(value) + 7, "text-anchor": "end" }, short(value)),
      ]),
      ticks(x0, x1, 5).map((value) =>
        s("text", { x: x(value), y: HIGH - 36, "text-anchor": "middle" }, short(value)),
      ),
      s("text", { x: WIDE - EDGE.right, y: HIGH - 8, "text-anchor": "end" }, given.unit),
      band,
      s("path", { d: `M${line(points.map((point) => [point[0], point[1]]))}` }),
    ),
    h("figcaption", { class: "small" }, given.title),
  );
}
