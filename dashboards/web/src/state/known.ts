/** What the server has told once about itself, for parts deep in a page. */
import { USUAL_ALARM_MS } from "../api/stale";
import { store } from "./store";

/** Titles of reasons by code, in the reader's language. */
export const titles = store<Readonly<Record<string, string>>>({});

/** Whether a job's name may need its cluster beside it. */
export const manyClusters = store(false);

/** Live data older than this is stale. */
export const alarmMs = store(USUAL_ALARM_MS);
