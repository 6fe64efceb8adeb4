/** The same answer in a terminal. */
import type { Job } from "../api/types";
import { CopyButton } from "../components/controls";
import { Panel } from "../components/panel";
import { useTranslate } from "../i18n";
import { manyClusters } from "../state/known";
import { useStore } from "../state/store";
import { commandsOf } from "./commandtext";

/** Words are broken only where one alone is wider than its place: `-n` stays whole. */
function Words({ of }: { of: string }) {
  return <>{of.split(" ").map((word, at) => [at > 0 && " ", <span key={at}>{word}</span>])}</>;
}

interface Props {
  job: Job;
  group: string | null;
  ended: boolean;
  newest: boolean;
  at_ms: number | null;
}

export function Commands({ job, group, ended, newest, at_ms }: Props) {
  const t = useTranslate();
  const cluster = useStore(manyClusters);
  return (
    <Panel title={t("job.commands")}>
      <div class="commands">
        {commandsOf(job, group, { cluster, uid: !newest, at_ms }).map((command) => (
          <div key={command} class="command">
            <code><Words of={command} /></code>
            <CopyButton quiet text={command} label={t("job.copy_command")} />
          </div>
        ))}
      </div>
      {ended && <p class="faint small">{t("job.commands_ended")}</p>}
    </Panel>
  );
}
