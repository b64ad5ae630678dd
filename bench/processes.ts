import { readdirSync, readFileSync } from 'node:fs';
import { setInterval } from 'node:timers';

/** Linux counts a process's time in hundredths of a second. */
const TICK_SECONDS = 0.01;
const MICROSECONDS = 1e6;
const SAMPLE_EVERY_MS = 100;
const KILOBYTES = 1_024;

/** Of `/proc/PID/stat`, counted after the name: it may hold spaces. */
const FIELD = { parent: 1, user: 11, system: 12, childrenUser: 13, childrenSystem: 14 } as const;

function statOf(pid: number): number[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // eslint-disable-next-line no-restricted-syntax -- counts
    return fields.map(Number);
  } catch {
    // It has ended.
    return undefined;
  }
}

function childrenByParent(): Map<number, number[]> {
  const childrenOf = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const child = Number(name); // eslint-disable-line no-restricted-syntax -- a process's id
    const parent = statOf(child)?.[FIELD.parent];
    if (parent !== undefined) childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), child]);
  }
  return childrenOf;
}

/** CPU seconds of a process and of all that it started, those that have ended too; of this process without what it started. */
export function cpuSeconds(pid: number, childrenOf = childrenByParent()): number {
  const ticksOf = (of: number): number => {
    const stat = statOf(of);
    if (stat === undefined) return 0;
    const { user, system, childrenUser, childrenSystem } = FIELD;
    const own = [user, system, childrenUser, childrenSystem].reduce((sum, at) => sum + (stat[at] ?? 0), 0);
    return (childrenOf.get(of) ?? []).reduce((sum, child) => sum + ticksOf(child), own);
  };
  if (pid !== process.pid) return ticksOf(pid) * TICK_SECONDS;
  const { user, system } = process.cpuUsage();
  return (user + system) / MICROSECONDS;
}

/** Resident memory of a process in megabytes; 0 when it has ended. */
export function residentMegabytes(pid: number): number {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / KILOBYTES; // eslint-disable-line no-restricted-syntax -- memory, not money
  } catch {
    return 0;
  }
}

export type Usage = {
  cpuSeconds: Record<string, number>;
  /** The most that was resident at any of the samples; not of a process with children, which share most of theirs. */
  megabytes: Record<string, number>;
};

/** Watches what processes use until `end` is called. */
export function watchProcesses(processes: Readonly<Record<string, number | undefined>>): { end(): Usage } {
  const childrenOf = childrenByParent();
  const watched = Object.entries(processes).flatMap(([name, pid]) =>
    pid === undefined
      ? []
      : [
          {
            name,
            pid,
            before: cpuSeconds(pid, childrenOf),
            most: 0,
            isAlone: pid === process.pid || !childrenOf.has(pid),
          },
        ],
  );
  const alone = watched.filter(({ isAlone }) => isAlone);
  const sample = () => {
    for (const one of alone) one.most = Math.max(one.most, residentMegabytes(one.pid));
  };
  const timer = setInterval(sample, SAMPLE_EVERY_MS);
  return {
    end() {
      clearInterval(timer);
      sample();
      const now = childrenByParent();
      return {
        cpuSeconds: Object.fromEntries(
          watched.map(({ name, pid, before }) => [name, cpuSeconds(pid, now) - before]),
        ),
        megabytes: Object.fromEntries(alone.map(({ name, most }) => [name, most])),
      };
    },
  };
}
