import { inspectBus } from '@quittance/shared/bus-inspection';
import { RUN_ONE } from '@quittance/shared/bus-servers';
import type { Clock } from '@quittance/shared/clock';
import { createLogger } from '@quittance/shared/logger';
import { clockFinding } from './clock-check.ts';
import { bad, type Finding, ok, why, within } from './finding.ts';

const ANSWER_WITHIN_MS = 10_000;
/** Events that wait in the stream: more than services process in some seconds. */
const WAITING_MAX = 10_000;

const START = 'Start `quittance nats provision --watch`: services wait for it.';

/** Stream, durable consumers and buckets, and the clock of NATS. */
export async function checkBus(url: string, clock: Clock): Promise<Finding[]> {
  try {
    const silent = createLogger('doctor', 'silent');
    const before = clock.now();
    const {
      version,
      time,
      replicas = 1,
      missing,
      apart,
      waiting,
    } = await within(ANSWER_WITHIN_MS, inspectBus(url, silent));
    const late = [...waiting].filter(([, count]) => count > WAITING_MAX);
    return [
      ok('version', 'nats-server', version),
      ...(time === undefined ? [] : [clockFinding({ subject: 'NATS', time, before, after: clock.now() })]),
      missing.length === 0
        ? ok(
            'bus',
            'streams',
            `stream, consumers and buckets are there, ${replicas === 1 ? 'on one node' : `on ${replicas} nodes`}`,
          )
        : bad('problem', 'bus', 'streams', `NATS lacks ${missing.join(', ')}`, START),
      ...(apart === undefined ? [] : [bad('problem', 'bus', 'servers', apart, `${RUN_ONE}.`)]),
      ...late.map(([service, count]) =>
        bad(
          'warning',
          'bus',
          `consumer ${service}`,
          `${count} events wait`,
          `Look whether ${service} runs, and at its log.`,
        ),
      ),
    ];
  } catch (error) {
    const remedy = 'Start nats-server, or correct NATS_URL. Events stay in the outboxes until then.';
    return [bad('problem', 'bus', 'NATS', `no answer (${why(error)})`, remedy)];
  }
}
