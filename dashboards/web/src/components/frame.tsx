/** What stands around every page: where one can go, what the reader likes, how fresh the picture is. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { freshness, reached } from "../api/client";
import type { Meta } from "../api/types";
import { useTranslate, type MessageId } from "../i18n";
import { followOf } from "../state/follow";
import { following } from "../state/live";
import type { Lang, Theme, Zone } from "../state/choice";
import { prefs, setPrefs } from "../state/prefs";
import { adjust, href, useRoute } from "../state/route";
import { useStore } from "../state/store";
import { Segmented, Select } from "./controls";
import { FreshChip, StaleBanner } from "./fresh";
import { Icon, Mark, type IconName } from "./icons";

const PAGES: { path: string; icon: IconName; text: MessageId }[] = [
  { path: "", icon: "overview", text: "nav.overview" },
  { path: "jobs", icon: "jobs", text: "nav.jobs" },
  { path: "reasons", icon: "reasons", text: "nav.reasons" },
  { path: "violations", icon: "violations", text: "nav.violations" },
  { path: "queues", icon: "queues", text: "nav.queues" },
  { path: "pipeline", icon: "pipeline", text: "nav.pipeline" },
];

export function Frame({ meta, children }: { meta: Meta | null; children: ComponentChildren }) {
  const t = useTranslate();
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={toMain}>{t("nav.skip")}</a>
      <header class="head">
        <a class="brand" href={href([])}>
          <Mark />
          <span>kube-collector</span>
        </a>
        <TopBar meta={meta} />
      </header>
      <Navigation />
      <main id="main" tabIndex={-1}>
        <StaleBanner />
        {children}
      </main>
      <Preferences version={meta?.version ?? ""} />
    </div>
  );
}

function toMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Navigation() {
  const t = useTranslate();
  const { path } = useRoute();
  const strip = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a narrow screen the strip scrolls sideways; where one is must be in sight.
    strip.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [path[0]]);
  return (
    <nav class="nav" aria-label={t("nav.label")} ref={strip}>
      {PAGES.map((page) => (
        <a key={page.path} href={href(page.path ? [page.path] : [])} aria-current={(path[0] ?? "") === page.path ? "page" : undefined}>
          <Icon name={page.icon} />
          <span>{t(page.text)}</span>
        </a>
      ))}
    </nav>
  );
}

function TopBar({ meta }: { meta: Meta | null }) {
  const t = useTranslate();
  const { query } = useRoute();
  const clusters = meta?.clusters ?? [];
  return (
    <div class="topbar">
      <Find />
      <div class="topbar-right">
        {clusters.length > 1 && (
          <Select
            label={t("frame.cluster")}
            any={t("frame.all_clusters")}
            choices={clusters.map((name) => ({ value: name, label: name }))}
            value={query["cluster"] ?? ""}
            onChange={(cluster) => adjust({ cluster, cursor: null, page: null })}
          />
        )}
        <FreshChip />
        <Follow />
      </div>
    </div>
  );
}

const TYPING_MS = 250;

/** Looks for jobs: on their list while one types, from elsewhere with Enter. `/` brings the cursor here. */
function Find() {
  const t = useTranslate();
  const { path, query } = useRoute();
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef(0);
  const onList = path.length === 1 && path[0] === "jobs";
  const q = onList ? (query["q"] ?? "") : "";
  useEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = q;
  }, [q, onList]);
  useEffect(() => () => clearTimeout(timer.current), [onList]);
  useEffect(() => {
    const heard = (event: KeyboardEvent): void => {
      const typing = event.target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener("keydown", heard);
    return () => removeEventListener("keydown", heard);
  }, []);
  const text = (): string => field.current?.value.trim() ?? "";
  const typed = (): void => {
    clearTimeout(timer.current);
    if (onList) timer.current = window.setTimeout(() => adjust({ q: text(), cursor: null, page: null }, true), TYPING_MS);
  };
  const go = (event: Event): void => {
    event.preventDefault();
    if (onList) adjust({ q: text(), cursor: null, page: null }, true);
    else location.hash = href(["jobs"], { q: text() });
  };
  return (
    <form class="find" role="search" onSubmit={go}>
      <Icon name="search" size={14} />
      <input ref={field} type="search" placeholder={t("frame.find")} aria-label={t("frame.find")} enterkeyhint="search" onInput={typed} />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}

function Follow() {
  const t = useTranslate();
  const on = useStore(following);
  const answered = useStore(reached);
  const over = useStore(freshness)?.replay_over ?? false;
  const shown = followOf({ on, answered, over });
  if (!shown) return null;
  const [dot, text] = shown;
  return (
    <button type="button" class="button follow" aria-pressed={on} title={t(on ? "frame.pause" : "frame.resume")} onClick={() => following.set(!on)}>
      <span class={`dot ${dot}`} aria-hidden="true" />
      <span>{t(text)}</span>
    </button>
  );
}

function Preferences({ version }: { version: string }) {
  const t = useTranslate();
  const { theme, lang, zone } = useStore(prefs);
  return (
    <footer class="prefs" aria-label={t("prefs.label")}>
      <Segmented
        label={t("prefs.theme")}
        iconsOnly
        choices={(["system", "light", "dark"] as const).map((value) => ({ value, icon: value, label: t(`prefs.theme.${value}`) }))}
        value={theme}
        onChange={(value) => {
          adjust({ theme: null }, true);
          setPrefs({ theme: value as Theme });
        }}
      />
      <Segmented
        label={t("prefs.lang")}
        choices={[{ value: "en", label: "EN" }, { value: "zh", label: "中文" }]}
        value={lang}
        onChange={(value) => {
          adjust({ lang: null }, true);
          setPrefs({ lang: value as Lang });
        }}
      />
      <Segmented
        label={t("prefs.zone")}
        choices={(["local", "utc"] as const).map((value) => ({ value, label: t(`prefs.zone.${value}`) }))}
        value={zone}
        onChange={(value) => setPrefs({ zone: value as Zone })}
      />
      {version && <span class="version num">{version}</span>}
    </footer>
  );
}
