import { bucketNames, bucketStream, connectPatiently, PROVISIONER, STREAM } from './bus-connection.ts';
import { separateServers } from './bus-servers.ts';
import { foundOnBus } from './bus-setup.ts';
import { receivers } from './events.ts';
import type { Logger } from './logger.ts';

const ASK_TIMEOUT_MS = 2_000;

export type BusInspection = {
  version: string;
  /** NATS' own clock, when it says so. */
  time: Date | undefined;
  /** On how many nodes the events are; undefined without their stream. */
  replicas: number | undefined;
  /** Streams, durable consumers and buckets that it lacks. */
  missing: string[];
  /** What is wrong with how its servers are run. */
  apart: string | undefined;
  /** By service: how many events wait for it in the stream. */
  waiting: Map<string, number>;
};

/** Looks at NATS as the provisioner, and creates nothing. Throws why it does not answer. */
export async function inspectBus(url: string, logger: Logger): Promise<BusInspection> {
  // One attempt: it is told to stop already.
  const nc = await connectPatiently(url, PROVISIONER, logger, AbortSignal.abort());
  try {
    const manager = await nc.jetstreamManager({ checkAPI: false, timeout: ASK_TIMEOUT_MS });
    const missing: string[] = [];
    const events = await foundOnBus(() => manager.streams.info(STREAM));
    if (events === undefined) missing.push(`stream ${STREAM}`);
    for (const bucket of bucketNames.map(bucketStream)) {
      if ((await foundOnBus(() => manager.streams.info(bucket))) === undefined)
        missing.push(`stream ${bucket}`);
    }
    const waiting = new Map<string, number>();
    for (const service of receivers) {
      const durable = await foundOnBus(() => manager.consumers.info(STREAM, service));
      if (durable === undefined) missing.push(`consumer ${service}`);
      else waiting.set(service, durable.num_pending);
    }
    // nats-server says the time of each answer, which the types of its client do not have.
    const said = events === undefined ? undefined : (events as { ts?: unknown }).ts;
    const time = typeof said === 'string' ? new Date(said) : undefined;
    const apart = await separateServers(nc, url);
    const replicas = events?.config.num_replicas;
    return { version: nc.info?.version ?? '', time, replicas, missing, apart, waiting };
  } finally {
    await nc.close();
  }
}
