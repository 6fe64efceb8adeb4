/** What a scheduler sees of a job that waits: nodes by what they lack, what would help, who goes first. */
import type { NodeSet, Scheduler, Why } from "../api/types";
import { Swatch } from "../components/reason";
import { Panel } from "../components/panel";
import { dayClock } from "../format/time";
import { useTranslate } from "../i18n";
import { colourVar, patternClass } from "../reasons/palette";
import { prefs } from "../state/prefs";
import { useStore } from "../state/store";

interface Props {
  why: Why;
  at_ms: number | null;
  dim: boolean;
  /** Whether what was not stored was asked for. */
  asked: boolean;
  onRebuild: () => void;
}

export function SchedulerPanel({ why, at_ms, dim, asked, onRebuild }: Props) {
  const t = useTranslate();
  const { scheduler, scheduler_note } = why;
  if (why.phase !== "waiting" || (!scheduler && at_ms === null)) return null;
  if (asked && !dim && !scheduler && !scheduler_note) return null; // somebody before the scheduler holds it: told above
  return (
    <Panel title={t("job.scheduler")} class="sees" dim={dim} aside={scheduler && <Whose of={scheduler} />}>
      {scheduler ? <Sees of={scheduler} helps={why.helps} /> : scheduler_note ? <p>{scheduler_note}</p> : (
        <p>
          {t("job.scheduler_none")} <button type="button" class="link" onClick={onRebuild}>{t("job.scheduler_rebuild")}</button>
        </p>
      )}
    </Panel>
  );
}

function Whose({ of }: { of: Scheduler }) {
  const t = useTranslate();
  const { lang, zone } = useStore(prefs);
  const places = { policy: of.policy, at: dayClock(of.session_ms, lang, zone) };
  const nodes = of.node_sets.reduce((sum, one) => sum + one.nodes, 0);
  const whose = t(of.rebuilt ? "job.scheduler_rebuilt" : of.source === "live" ? "job.scheduler_live" : "job.scheduler_shadow", places);
  return <span class="faint num">{nodes > 0 ? `${t("job.scheduler_nodes", { n: nodes })} · ${whose}` : whose}</span>;
}

/** What the answer above says already is not said again. */
function Sees({ of, helps }: { of: Scheduler; helps: readonly string[] }) {
  const more = of.helps.filter((help) => !helps.includes(help));
  const diverged = of.diverged === of.sentence ? null : of.diverged;
  return (
    <>
      {of.node_sets.length > 0 ? <Nodes of={of.node_sets} summary={of.sentence} /> : <p class="sees-said">{of.sentence}</p>}
      {more.length > 0 && <ul class="sees-helps">{more.map((help) => <li key={help}>{help}</li>)}</ul>}
      {of.ahead && <p>{of.ahead}</p>}
      {diverged && <p class="sees-diverged">{diverged}</p>}
      {of.more && <p class="faint small sees-message">{of.more}</p>}
    </>
  );
}

function Nodes({ of, summary }: { of: readonly NodeSet[]; summary: string }) {
  const most = Math.max(1, ...of.map((one) => one.nodes));
  return (
    <ul class="bars sees-nodes" aria-label={summary}>
      {of.map((one) => (
        <li key={one.filters.join(" ")}>
          <span class="sees-count num">{one.nodes}</span>
          <span class="sees-lack"><Swatch reason={one.reason ?? "unknown"} /> {one.text}</span>
          <span class="bars-track" aria-hidden="true">
            <span class={patternClass(one.reason ?? "unknown")} style={{ "--c": colourVar(one.reason ?? "unknown"), width: `${(one.nodes / most) * 100}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}
