/** What the cluster said about the job, newest first. */
import { useState } from "preact/hooks";

import type { ClusterEvent } from "../api/types";
import { Moment } from "../components/moment";
import { Panel } from "../components/panel";
import { Empty } from "../components/states";
import { useTranslate } from "../i18n";

const FIRST = 8;

export function Events({ events, now_ms }: { events: readonly ClusterEvent[]; now_ms: number }) {
  const t = useTranslate();
  const [all, setAll] = useState(false);
  const shown = all ? events : events.slice(0, FIRST);
  return (
    <Panel title={t("job.events")} flush class="span-main" aside={events.length > 0 ? <span class="faint num">{events.length}</span> : undefined}>
      {events.length === 0 ? (
        <Empty icon="jobs" title={t("job.events_none")} what={t("job.events_none_what")} />
      ) : (
        <ol class="events">
          {shown.map((event, i) => (
            <li key={`${event.at_ms} ${i}`}>
              <Moment ms={event.at_ms} near_ms={now_ms} />
              <div>
                <p class="events-head">
                  <b>{event.reason}</b>
                  {event.count > 1 && <span class="tag num">× {event.count}</span>}
                  <span class="faint">{[event.component, event.regarding].filter(Boolean).join(" · ")}</span>
                </p>
                <p class="events-message">{event.message}</p>
              </div>
            </li>
          ))}
        </ol>
      )}
      {!all && events.length > FIRST && (
        <button type="button" class="button quiet more" onClick={() => setAll(true)}>{t("job.events_more", { n: events.length })}</button>
      )}
    </Panel>
  );
}
