import { createHash, randomBytes } from 'node:crypto';

/** What a trace is of: all steps of one invoice with its payments, or of one payout. */
export type Traced = { is: 'invoice' | 'payout'; id: string };

/** What a span says beside its name and its times: ids, chain, asset, status. No amount, no address, no URL. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** One step that has ended. */
export type Span = {
  of: Traced;
  name: string;
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  start: Date;
  end: Date;
  /** Names a step that happens once: recorded again, it is the same span. Without it each record is a span of its own. */
  step?: string;
  /** The step that caused it; the root of the trace when it is left out. */
  parent?: string;
  attributes?: SpanAttributes;
  /** Other traces that this step leads to. */
  links?: readonly Traced[];
  /** Why it failed, in a word. */
  error?: string | undefined;
};

/** The step that all others of a trace belong to. */
export const ROOT = 'root';

/** Takes the spans of one service. No method waits or throws. */
export type Tracer = {
  /** The time for spans of what has no clock of its own. */
  now(): Date;
  /** Calls `make` when traces are on. What it throws is logged. */
  record(make: () => readonly Span[]): void;
};

/** Where traces are off. */
export const noTracer: Tracer = { now: () => new Date(), record: () => {} };

const hashed = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The first 16 bytes of the SHA-256 of the id, so that every service finds the same trace by itself. */
export const traceIdOf = ({ id }: Pick<Traced, 'id'>): string => hashed(id).slice(0, 32);

/** The id of a span whose step happens once in its trace. */
export const spanIdOf = ({ id }: Pick<Traced, 'id'>, step: string): string =>
  hashed(`${id} ${step}`).slice(0, 16);

/** A span with its ids. */
export type IdentifiedSpan = Span & { traceId: string; spanId: string; parentSpanId: string | undefined };

/** Gives a span its ids. An end before its start, by two clocks that differ, becomes its start. */
export function identified(span: Span): IdentifiedSpan {
  const { of, step, parent = ROOT } = span;
  return {
    ...span,
    end: new Date(Math.max(span.start.getTime(), span.end.getTime())),
    traceId: traceIdOf(of),
    spanId: step === undefined ? randomBytes(8).toString('hex') : spanIdOf(of, step),
    parentSpanId: step === ROOT ? undefined : spanIdOf(of, parent),
  };
}

/** Sends spans to a collector. */
export type SpanExporter = {
  /** Rejects when the collector did not take them in time. */
  send(spans: readonly IdentifiedSpan[]): Promise<void>;
  close(): Promise<void>;
};
