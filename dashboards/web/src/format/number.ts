import type { Lang } from "../state/choice";

const locale = (lang: Lang): string => (lang === "zh" ? "zh-CN" : "en");

export const count = (value: number, lang: Lang): string => new Intl.NumberFormat(locale(lang)).format(value);

/** A share, 0 to 1, as a percentage. A share that is not whole never reads 0 % or 100 %. */
export function percent(share: number, lang: Lang, digits = 0): string {
  const format = new Intl.NumberFormat(locale(lang), { style: "percent", maximumFractionDigits: digits });
  const least = 10 ** -(digits + 2);
  const rounded = Math.round(share / least) * least;
  if (share > 0 && rounded < least / 2) return `< ${format.format(least)}`;
  if (share < 1 && rounded > 1 - least / 2) return `> ${format.format(1 - least)}`;
  return format.format(share);
}

/** Memory as Kubernetes writes it: `1.5 Gi`. */
export function memory(bytes: number): string {
  const units = ["B", "Ki", "Mi", "Gi", "Ti", "Pi"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${Math.round(value * 10) / 10} ${units[unit]}`;
}

/** Cores from thousandths: `0.5`, `12`. */
export const cores = (milli: number): string => String(Math.round(milli / 10) / 100);
