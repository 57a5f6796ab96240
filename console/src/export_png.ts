import { lineColor, type Line } from "./chart";

const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// picture draws the chart of a panel as a PNG: with its title, the time, and what the lines are.
export function picture(panel: string, title: string, lines: Line[], about: string): Promise<Blob> {
  const chart = document.querySelector<HTMLCanvasElement>(`#${panel} canvas`)!,
    scale = devicePixelRatio;
  const width = chart.width / scale,
    head = 58,
    line = 18;
  const canvas = document.createElement("canvas");
  const draw = canvas.getContext("2d")!;
  const font = (size: number, weight = "400") => {
    draw.font = `${weight} ${size}px system-ui, sans-serif`;
  };
  font(12);
  // The names stand in rows below the chart.
  let x = 16,
    row = 0;
  const names = lines.slice(0, 40).map((l) => {
    const wide = draw.measureText(l.label).width + 34;
    if (x + wide > width && x > 16) {
      x = 16;
      row++;
    }
    const at = { label: l.label, color: lineColor(l.color), x, row };
    x += wide;
    return at;
  });
  const height = head + chart.height / scale + (row + 1) * line + 14;
  canvas.width = chart.width;
  canvas.height = Math.round(height * scale);
  draw.scale(scale, scale);
  draw.fillStyle = css("--panel");
  draw.fillRect(0, 0, width, height);
  draw.fillStyle = css("--text");
  font(16, "600");
  draw.fillText(title, 16, 26, width - 32);
  draw.fillStyle = css("--faint");
  font(12);
  draw.fillText(about, 16, 46, width - 32);
  draw.drawImage(chart, 0, head, width, chart.height / scale);
  for (const { label, color, x, row } of names) {
    const y = head + chart.height / scale + row * line + 14;
    draw.fillStyle = color;
    draw.fillRect(x, y - 9, 10, 10);
    draw.fillStyle = css("--text");
    draw.fillText(label, x + 15, y, width - x - 20);
  }
  return new Promise((done, fail) =>
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("The browser makes no picture"))), "image/png"),
  );
}
