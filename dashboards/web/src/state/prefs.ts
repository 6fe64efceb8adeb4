/** What a reader likes: language, theme, time zone. Kept in the browser; `lang` and `theme` in the URL win over it. */
import { LOOKS } from "../reasons/palette";
import { parse } from "./url";
import { store } from "./store";

export type Theme = "system" | "light" | "dark";
export type Lang = "en" | "zh";
export type Zone = "local" | "utc";

export interface Prefs {
  theme: Theme;
  lang: Lang;
  zone: Zone;
}

const KEY = "kube-collector";

export function chosen(saved: Partial<Prefs>, query: Readonly<Record<string, string>>, languages: readonly string[]): Prefs {
  const lang = query["lang"] ?? saved.lang ?? languages[0] ?? "en";
  const theme = query["theme"] ?? saved.theme ?? "system";
  return {
    lang: lang.toLowerCase().startsWith("zh") ? "zh" : "en",
    theme: theme === "light" || theme === "dark" ? theme : "system",
    zone: saved.zone === "utc" ? "utc" : "local",
  };
}

export const prefs = store<Prefs>(chosen(saved(), parse(location.hash).query, navigator.languages));

const darkness = matchMedia("(prefers-color-scheme: dark)");

/** The theme that is shown: the system's unless the reader chose. */
export const isDark = store(false);

export function setPrefs(change: Partial<Prefs>): void {
  prefs.set({ ...prefs.get(), ...change });
}

/** Call once: puts theme and language on the document and keeps them there. */
export function applyPrefs(): void {
  prefs.watch((now) => {
    try {
      localStorage.setItem(KEY, JSON.stringify(now));
    } catch {
      // A browser that keeps nothing still shows everything.
    }
    dress();
  });
  darkness.addEventListener("change", dress);
  dress();
}

function dress(): void {
  const { theme, lang } = prefs.get();
  const dark = theme === "dark" || (theme === "system" && darkness.matches);
  const root = document.documentElement;
  root.lang = lang === "zh" ? "zh-CN" : "en";
  root.dataset["theme"] = dark ? "dark" : "light";
  for (const [reason, look] of Object.entries(LOOKS)) root.style.setProperty(`--reason-${reason}`, dark ? look.dark : look.light);
  isDark.set(dark);
}

function saved(): Partial<Prefs> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Prefs>;
  } catch {
    return {};
  }
}
