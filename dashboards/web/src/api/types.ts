/** What the HTTP API answers, version 1. Times are milliseconds since 1970 UTC; log time unless said otherwise. */

export interface Fresh {
  /** Log time up to which waits are judged; null while nothing was loaded. */
  now_ms: number | null;
  data_until_ms: number | null;
  lag_ms: number | null;
  replay: boolean;
  /** Null where it is not known. */
  replay_over: boolean | null;
}

export interface Job {
  cluster: string;
  namespace: string;
  kind: string;
  name: string;
  uid: string;
  /** Empty if none. */
  tenant: string;
  queue: string;
}

export type Phase = "waiting" | "scheduled" | "cancelled";
export type Sla = "none" | "on_track" | "at_risk" | "violated" | "met" | "met_late" | "cancelled";

export interface Reason {
  reason: string;
  detail: string | null;
  resource: string | null;
  ms: number;
  share: number;
  title: string;
}

export interface Now {
  reason: string;
  detail: string | null;
  resource: string | null;
  nodes: number | null;
  total_nodes: number | null;
  title: string;
}

export interface JobRow {
  job: Job;
  episode: number;
  episodes: number;
  phase: Phase;
  cause: string | null;
  created_ms: number | null;
  started_ms: number;
  scheduled_ms: number | null;
  ended_ms: number | null;
  wait_ms: number;
  promise_ms: number | null;
  deadline_ms: number | null;
  sla: Sla;
  overrun_ms: number | null;
  leading: Reason | null;
  now: Now | null;
  tasks: number | null;
  minimum: number | null;
  gpus: number | null;
  cpus_milli: number | null;
  memory_bytes: number | null;
  priority_class: string | null;
  partial: boolean;
}

export interface Segment {
  n: number;
  reason: string;
  detail: string | null;
  resource: string | null;
  title: string;
  from_ms: number;
  to_ms: number | null;
  ms: number;
  nodes: number | null;
  total_nodes: number | null;
  message: string | null;
  /** Codes of reasons that were true at the same time. */
  also: string[];
  evidence: string | null;
  estimated: boolean;
}

export interface Episode extends JobRow {
  segments: Segment[];
  promise_source: string | null;
  misconfigured: string | null;
  first_task_ms: number | null;
  running_ms: number | null;
  startup_ms: number | null;
  estimated_ms: number | null;
  gap_ms: number | null;
}

export interface ClusterEvent {
  at_ms: number;
  reason: string;
  message: string;
  component: string | null;
  count: number;
  regarding: string | null;
}

/** A value of a filter that nothing has. */
export interface Unknown {
  filter: string;
  value: string;
  near: string | null;
  known: string[];
}

export interface Jobs extends Fresh {
  unknown: Unknown[];
  items: JobRow[];
  next: string | null;
  total: number;
}

/** One of the jobs that had a name one after the other. */
export interface Life {
  uid: string;
  created_ms: number | null;
  started_ms: number;
  phase: Phase;
  sla: Sla;
}

/** Nodes that fail exactly the same checks. */
export interface NodeSet {
  nodes: number;
  filters: string[];
  reason: string | null;
  text: string;
}

/** What a scheduler sees of a job that waits. */
export interface Scheduler {
  sentence: string;
  source: "shadow" | "live";
  policy: string;
  session_ms: number;
  /** Made anew from the log for this question. */
  rebuilt: boolean;
  node_sets: NodeSet[];
  helps: string[];
  ahead: string | null;
  more: string;
  diverged: string | null;
}

export interface JobPage extends Fresh {
  job: Job;
  api_group: string | null;
  episodes: Episode[];
  events: ClusterEvent[];
  /** Newest first, this one too. */
  lives: Life[];
}

export interface Why extends Fresh {
  sentence: string;
  job: Job;
  episode: number;
  phase: Phase;
  wait_ms: number;
  promise_ms: number | null;
  deadline_ms: number | null;
  sla: Sla;
  leading: Reason | null;
  reasons: Reason[];
  now: Now | null;
  helps: string[];
  scheduler: Scheduler | null;
  /** Why that cannot be told, if it was asked for. */
  scheduler_note: string | null;
}

export interface Violation {
  job: Job;
  episode: number;
  promise_ms: number | null;
  deadline_ms: number | null;
  violated_ms: number | null;
  resolved_ms: number | null;
  overrun_ms: number;
  reason: string;
  resource: string | null;
  title: string;
  fingerprint: string;
  state: "open" | "resolved" | "withdrawn";
}

export interface Violations extends Fresh {
  items: Violation[];
  next: string | null;
  total: number;
}

export interface QueueRow {
  queue: string;
  tenant: string;
  jobs: number;
  waiting: number;
  violated: number;
  longest_wait_ms: number;
  waiting_ms: number;
  gpus_waiting: number;
  leading: Reason | null;
}

export interface Queues extends Fresh {
  items: QueueRow[];
}

export type ReasonTotal = Reason & { jobs: number; resources: string[] };

export interface Reasons extends Fresh {
  from_ms: number;
  to_ms: number;
  bucket_ms: number;
  buckets: number[];
  series: { reason: string; title: string; values: number[] }[];
  totals: ReasonTotal[];
}

export interface Overview extends Fresh {
  kept: { promised: number; kept: number; violated_open: number; violated_total: number; at_risk: number };
  waiting: { jobs: number; gpus: number; wait_ms: number };
  longest: JobRow[];
  at_risk: JobRow[];
  recent_violations: Violation[];
  top_reasons: ReasonTotal[];
}

export interface StageState {
  cluster: string;
  stage: string;
  log_ms: number | null;
  loaded_ms: number | null;
  /** Behind the stage that is furthest. */
  lag_ms: number | null;
}

/** A replay knows only the first two. */
export interface WatchState {
  watch: string;
  state: string;
  version?: string | null;
  last_frame_ms?: number | null;
  last_list_ms?: number | null;
  silent_ms?: number | null;
  frames?: number | null;
  error?: string | null;
}

export interface DeadLetter {
  stage: string | null;
  kind: string | null;
  error: string | null;
  observed_ms: number | null;
}

/** What cannot be told is null: stages, letters and counters need the warehouse, watches the process that collects. */
export interface Pipeline extends Fresh {
  stages: StageState[] | null;
  watches: WatchState[] | null;
  dead_letters: { count: number; latest: DeadLetter[] } | null;
  counters: Record<string, number> | null;
  /** What each stage that runs beside the page shows of itself. */
  process: Record<string, unknown> | null;
  /** Why the warehouse cannot be asked. */
  warehouse: string | null;
}

export interface Meta extends Fresh {
  version: string;
  clusters: string[];
  namespaces: string[];
  queues: string[];
  tenants: string[];
  reasons: { code: string; title: string }[];
  languages: string[];
  /** Live data older than this is stale. */
  lag_alarm_ms: number;
}
