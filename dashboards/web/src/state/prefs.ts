/** What a reader likes: language, theme, time zone. Kept in the browser; `lang` and `theme` in the URL win over it. */
import { shades } from "../reasons/palette";
import { chosen, type Prefs } from "./choice";
import { store } from "./store";
import { parse } from "./url";

const KEY = "kube-collector";

export const prefs = store<Prefs>(chosen(saved(), parse(location.hash).query, navigator.languages));

const darkness = matchMedia("(prefers-color-scheme: dark)");

/** The theme that is shown: the system's unless the reader chose. */
export const isDark = store(false);

export function setPrefs(change: Partial<Prefs>): void {
  prefs.set({ ...prefs.get(), ...change });
}

/** What a link says about language and theme. */
export function heed(query: Readonly<Record<string, string>>): void {
  if (query["lang"] || query["theme"]) setPrefs(chosen(prefs.get(), query, navigator.languages));
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
  for (const [reason, shade] of shades(dark)) root.style.setProperty(`--reason-${reason}`, shade);
  isDark.set(dark);
}

function saved(): Partial<Prefs> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Prefs>;
  } catch {
    return {};
  }
}
