/** Who waits where. */
import { address } from "../api/client";
import { OPEN_MS, useResource } from "../api/resource";
import type { QueueRow, Queues } from "../api/types";
import { ReasonName } from "../components/reason";
import { Empty, ProblemNote, Skeleton } from "../components/states";
import { useTitle } from "../components/title";
import { brief, duration } from "../format/duration";
import { count } from "../format/number";
import { useTranslate } from "../i18n";
import { NONE } from "../lists/query";
import { prefs } from "../state/prefs";
import { href, useRoute } from "../state/route";
import { useStore } from "../state/store";

export function QueuesView() {
  const t = useTranslate();
  const { cluster } = useRoute().query;
  const { data, problem, dim, reload } = useResource<Queues>(address(["queues"], { cluster }), { of: "queues", every: () => OPEN_MS * 2 });
  useTitle(t("queues.title"));
  return (
    <div class="page">
      <h1>{t("queues.title")}</h1>
      <p class="lead">{t("queues.what")}</p>
      {problem && <ProblemNote problem={problem} retry={reload} kept={data !== null} />}
      <div class={`panel${dim ? " dim" : ""}`} aria-busy={dim}>
        {!data ? !problem && <Skeleton /> : data.items.length === 0 ? (
          <Empty icon="queues" title={t("queues.empty")} what={t("queues.empty_what")} />
        ) : (
          <QueueTable items={data.items} />
        )}
      </div>
    </div>
  );
}

function QueueTable({ items }: { items: readonly QueueRow[] }) {
  const t = useTranslate();
  const { lang } = useStore(prefs);
  const jobs = ({ queue, tenant }: QueueRow, phase?: string): string => href(["jobs"], { queue: queue || NONE, tenant: tenant || NONE, phase });
  return (
    <table class="table stack">
      <thead>
        <tr>
          <th scope="col">{t("col.queue")}</th>
          <th scope="col">{t("col.mostly")}</th>
          <th scope="col" class="right">{t("col.waiting")}</th>
          <th scope="col" class="right">{t("col.gpus_waiting")}</th>
          <th scope="col" class="right">{t("col.longest")}</th>
          <th scope="col" class="right">{t("col.waited")}</th>
          <th scope="col" class="right">{t("col.broken")}</th>
          <th scope="col" class="right">{t("col.jobs")}</th>
        </tr>
      </thead>
      <tbody>
        {items.map((row) => (
          <tr key={`${row.queue} ${row.tenant}`}>
            <td class="cell-job">
              <span class="joblink">
                <a class="joblink-name" href={jobs(row)}>{row.queue || t("queues.no_queue")}</a>
                {row.tenant && <span class="joblink-where">{row.tenant}</span>}
              </span>
            </td>
            <td class="cell-reason">{row.leading ? <ReasonName of={row.leading} /> : <span class="faint">–</span>}</td>
            <td class="right num strong" data-label={t("col.waiting")}>{row.waiting ? <a href={jobs(row, "waiting")}>{count(row.waiting, lang)}</a> : <span class="faint">0</span>}</td>
            <td class="right num" data-label={t("col.gpus_waiting")}>{row.gpus_waiting ? count(row.gpus_waiting, lang) : <span class="faint">0</span>}</td>
            <td class="right num" data-label={t("col.longest")}>{row.longest_wait_ms ? duration(row.longest_wait_ms) : <span class="faint">–</span>}</td>
            <td class="right num" data-label={t("col.waited")}>{row.waiting_ms ? brief(row.waiting_ms) : <span class="faint">–</span>}</td>
            <td class="right num" data-label={t("col.broken")}>{row.violated ? <span class="tone-bad">{count(row.violated, lang)}</span> : <span class="faint">0</span>}</td>
            <td class="right num" data-label={t("col.jobs")}>{count(row.jobs, lang)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
