/**
 * Texts by id, whole sentences with places to fill; English is the list of ids that exist. What the product says about a
 * job (the sentence, what helps, titles of reasons) comes from the API in the reader's language and is not here.
 */
import type { Lang } from "../state/choice";
import en from "./en.json";
import zh from "./zh.json";

export type MessageId = keyof typeof en;
export type Places = Readonly<Record<string, string | number>>;

export const CATALOGUES: Record<Lang, Readonly<Record<string, string>>> = { en, zh };

/** Where Chinese meets Latin letters or figures, a blank belongs: the sentences of the API have one too. */
const SEAM = /(?<=[\u4e00-\u9fff])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9%])(?=[\u4e00-\u9fff])/g;

/** A text with its places filled. `id.one` is the form for exactly one `{n}`, in languages that have one. */
export function translate(lang: Lang, id: MessageId, places: Places = {}): string {
  const texts = CATALOGUES[lang];
  const one = places["n"] === 1 || places["n"] === "1" ? texts[`${id}.one`] : undefined;
  const filled = (one ?? texts[id] ?? id).replace(/\{(\w+)\}/g, (whole, name: string) => String(places[name] ?? whole));
  return lang === "zh" ? filled.replace(SEAM, " ") : filled;
}

/** The text of an id made at run time (a phase, a state); the raw word if there is none, so nothing is ever hidden. */
export function word(lang: Lang, prefix: string, value: string): string {
  return CATALOGUES[lang][`${prefix}.${value}`] ?? value;
}

/** A detail of a reason; of a part that is over told as what was, where that differs: what could never fit may run now. */
export function detailWord(lang: Lang, reason: string, detail: string, over: boolean): string {
  return (over ? CATALOGUES[lang][`detail_past.${reason}/${detail}`] : undefined) ?? word(lang, "detail", detail);
}
