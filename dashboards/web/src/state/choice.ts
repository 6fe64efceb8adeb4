/** What a reader can choose, and which choice wins: the URL, then what was kept, then what the browser says. Pure. */
export type Theme = "system" | "light" | "dark";
export type Lang = "en" | "zh";
export type Zone = "local" | "utc";

export interface Prefs {
  theme: Theme;
  lang: Lang;
  zone: Zone;
}

export function chosen(saved: Partial<Prefs>, query: Readonly<Record<string, string>>, languages: readonly string[]): Prefs {
  const lang = query["lang"] ?? saved.lang ?? languages[0] ?? "en";
  const theme = query["theme"] ?? saved.theme ?? "system";
  return {
    lang: lang.toLowerCase().startsWith("zh") ? "zh" : "en",
    theme: theme === "light" || theme === "dark" ? theme : "system",
    zone: saved.zone === "utc" ? "utc" : "local",
  };
}
