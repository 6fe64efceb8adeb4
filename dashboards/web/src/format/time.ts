/** Moments in the reader's language and zone. Inside, every time is milliseconds since 1970 UTC. */
import type { Lang, Zone } from "../state/choice";

const made = new Map<string, Intl.DateTimeFormat>();

function formatter(lang: Lang, zone: Zone, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${lang} ${zone} ${JSON.stringify(options)}`;
  let found = made.get(key);
  if (!found) {
    const all: Intl.DateTimeFormatOptions = { ...options, hourCycle: "h23" };
    if (zone === "utc") all.timeZone = "UTC";
    made.set(key, (found = new Intl.DateTimeFormat(lang === "zh" ? "zh-CN" : "en-GB", all)));
  }
  return found;
}

/** `14:02:11` */
export const clock = (ms: number, lang: Lang, zone: Zone): string =>
  formatter(lang, zone, { hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(ms);

/** `14:02` */
export const hourMinute = (ms: number, lang: Lang, zone: Zone): string =>
  formatter(lang, zone, { hour: "2-digit", minute: "2-digit" }).format(ms);

/** `29 Nov, 14:02:11` */
export const dayClock = (ms: number, lang: Lang, zone: Zone): string =>
  formatter(lang, zone, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(ms);

/** Everything, with the zone: for tooltips. */
export const full = (ms: number, lang: Lang, zone: Zone): string =>
  formatter(lang, zone, {
    weekday: "short", day: "numeric", month: "short", year: "numeric",
    hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, timeZoneName: "short",
  }).format(ms);

/** RFC 3339 in UTC, for links and machines. */
export const rfc3339 = (ms: number): string => new Date(ms).toISOString();

/** The moment that a link names: RFC 3339 or milliseconds; null if it is neither. */
export function moment(text: string | undefined): number | null {
  if (!text) return null;
  if (/^\d{12,14}$/.test(text)) return Number(text);
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
