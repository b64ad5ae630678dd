import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Service } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import type { Quittance } from '@quittance/testkit/quittance';

type Line = {
  level: string;
  msg: string;
  request_id?: string;
  instead_of?: string;
  err?: { stack?: string };
};

export type LogLines = {
  /** From now on: what was written before belongs to another fault. */
  mark(): void;
  /**
   * Waits until a service has said something like this since the mark; throws with what it said instead. What it said
   * before and has not taken back by saying `over` counts as well: it does not say the same twice.
   */
  said(service: Service, what: RegExp, over?: RegExp): Promise<void>;
  /** The last that a service has said of this kind, since the beginning. */
  last(service: Service, what: RegExp): string | undefined;
  /** All that the services have said of one request, since the beginning. */
  about(requestId: string): string[];
  /** How often a service has said something like this, since the beginning. */
  count(service: Service, what: RegExp): number;
  /**
   * What no reader can use, since the mark: no log line, a stack trace without our code, the same again and again.
   * @param strikes how often the fault occurred again in that time: each may be logged
   */
  unusable(strikes?: number): string[];
};

/**
 * A worker that was in trouble a moment before says it again after a minute. Services write to their logs through a pipe, and
 * a busy one may come late to what it tells of.
 */
const WRITTEN_WITHIN_MS = 80_000;
/** Trouble of one kind, that is of no single request, is told a few times and not all the time, and once more a strike. */
const TIMES_MAX = 60;
const KEPT_OF_A_LINE = 1_000;
const OURS = /(?:services|packages)\/[\w-]+\/src\//;

/** The log files of a stack's services. */
export function logLines({ stack }: Pick<Quittance, 'stack'>): LogLines {
  const services = Object.keys(stack.services) as Service[];
  const fileOf = (service: Service) => join(dirname(stack.pricesFile), 'logs', `${service}.log`);
  const positions = new Map<Service, number>();

  const linesOf = (service: Service): string[] =>
    readFileSync(fileOf(service))
      .subarray(positions.get(service) ?? 0)
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '');

  const allOf = (service: Service): string[] => readFileSync(fileOf(service), 'utf8').split('\n');
  const last = (service: Service, what: RegExp): string | undefined =>
    allOf(service).findLast((line) => what.test(line));

  return {
    mark() {
      for (const service of services) positions.set(service, statSync(fileOf(service)).size);
    },
    said: (service, what, over) =>
      eventually(() => {
        const lines = linesOf(service);
        if (lines.some((line) => what.test(line))) return;
        if (over !== undefined && what.test(last(service, either(what, over)) ?? '')) return;
        const worth = lines.filter((line) => !/"level":"(?:debug|info)"/.test(line));
        throw new Error(`${service} did not say ${what}, but:\n${worth.slice(-20).join('\n')}`);
      }, WRITTEN_WITHIN_MS),
    last,
    about: (requestId) =>
      services.flatMap((service) => allOf(service).filter((line) => line.includes(requestId))),
    count: (service, what) => allOf(service).filter((line) => what.test(line)).length,
    unusable: (strikes = 0) =>
      services.flatMap((service) => unusableIn(service, linesOf(service), TIMES_MAX + strikes)),
  };
}

const either = (one: RegExp, other: RegExp): RegExp => new RegExp(`${one.source}|${other.source}`);

function unusableIn(service: Service, lines: readonly string[], timesMax: number): string[] {
  const found: string[] = [];
  const times = new Map<string, number>();
  for (const text of lines) {
    const line = parse(text);
    if (line === undefined) {
      found.push(`${service} wrote what is no log line: ${text}`);
      continue;
    }
    const stack = line.err?.stack;
    if (stack !== undefined && !OURS.test(stack))
      found.push(`${service} wrote a stack without our code: ${stack}`);
    // One line a request that was refused, or a payment that was signed again, is what an operator looks for.
    const isOfOne = line.request_id !== undefined || line.instead_of !== undefined;
    if (line.level !== 'info' && line.level !== 'debug' && !isOfOne) {
      times.set(line.msg, (times.get(line.msg) ?? 0) + 1);
    }
  }
  for (const [msg, n] of times) if (n > timesMax) found.push(`${service} wrote ${n} times: ${msg}`);
  return found;
}

function parse(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    // A stack keeps only so much of a line in its files.
    return text.length >= KEPT_OF_A_LINE && text.startsWith('{"level":"') ? cutOff(text) : undefined;
  }
}

const cutOff = (text: string): Line => ({
  level: /^\{"level":"(\w+)"/.exec(text)?.[1] ?? '',
  msg: text.slice(0, KEPT_OF_A_LINE),
  ...(text.includes('"request_id"') ? { request_id: 'cut off' } : {}),
  ...(text.includes('"stack":"') ? { err: { stack: text } } : {}),
});
