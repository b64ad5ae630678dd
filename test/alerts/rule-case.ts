/**
 * What becomes of each rule of deploy/prometheus/alerts.yml over time. Values are written as promtool has them: `0x3` is four samples of 0,
 * `0+2x3` four of which each is 2 more. A sample is taken every 15 seconds, so four are a minute.
 */
export type RuleCase = {
  alert: string;
  /** What a reader needs to know where the alert is tried more than once. */
  when?: string;
  series: Readonly<Record<string, string>>;
  /** It is silent at the first, fires at the second, and is silent again at the third: the moments between which it changes. */
  turns: { before: string; fires: string; healed?: string };
  labels: Readonly<Record<string, string>>;
  summary: string;
  /** Seconds between two samples, where it takes hours. */
  everySeconds?: number;
};
