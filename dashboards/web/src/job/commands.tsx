/** The same answer in a terminal. */
import type { Job } from "../api/types";
import { CopyButton } from "../components/controls";
import { Panel } from "../components/panel";
import { useTranslate } from "../i18n";
import { commandsOf } from "./commandtext";

export function Commands({ job, ended }: { job: Job; ended: boolean }) {
  const t = useTranslate();
  return (
    <Panel title={t("job.commands")}>
      <div class="commands">
        {commandsOf(job).map((command) => (
          <div key={command} class="command">
            <code>{command}</code>
            <CopyButton quiet text={command} label={t("job.copy_command")} />
          </div>
        ))}
      </div>
      {ended && <p class="faint small">{t("job.commands_ended")}</p>}
    </Panel>
  );
}
