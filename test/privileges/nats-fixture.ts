import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { startNats } from '@quittance/engines/nats';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { bucketNames, bucketStream, busUrl, PROVISIONER, STREAM } from '@quittance/shared/bus-connection';
import { ADMIN, busConfiguration, busUsers } from '@quittance/shared/bus-permissions';
import { startProvisioner } from '@quittance/shared/bus-setup';
import { type CommandName, commands } from '@quittance/shared/commands';
import { type EventKind, events, kindsFor, type Service, services } from '@quittance/shared/events';
import { createLogger, type Logger } from '@quittance/shared/logger';
import { anEventOf, aSettledDeposit } from '@quittance/testkit/builders';
import { connect, type NatsConnection } from 'nats';

export const kinds = Object.keys(events) as EventKind[];
export const commandNames = Object.keys(commands) as CommandName[];
export const members = busUsers.filter((user) => user !== PROVISIONER) as Service[];
export const readers = services.filter((service) => kindsFor(service).length > 0);
export const streams = [STREAM, ...bucketNames.map(bucketStream)];

export const passwordOf = (user: string): string => `12e5-${user}`;
const quoted = (user: string) => JSON.stringify(passwordOf(user));

export type NatsFixture = {
  url: string;
  urlOf(user: string): string;
  /** May do everything. */
  admin: NatsConnection;
  /** The services’ own connections write to this log: a refusal in it is a right that is missing. */
  log: string[];
  logger: Logger;
  busOf(service: Service): Bus;
  login(user: string, pass?: string): Promise<NatsConnection>;
};

/** For one suite: a NATS with the users and permissions of production, and a connection of each service. */
export function openNatsFixture(): NatsFixture {
  const log: string[] = [];
  const fixture = {
    log,
    logger: createLogger('test', 'warn', { write: (line) => log.push(line) }),
  } as NatsFixture;
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'quittance-nats-'));
    ends.unshift(() => rmSync(dataDir, { recursive: true, force: true }));
    const nats = await startNats({ dataDir, port: 0, config: busConfiguration(quoted, quoted(ADMIN)) });
    ends.unshift(() => nats.stop());
    const { logger } = fixture;
    const urlOf = (user: string) => busUrl(nats.url, user, passwordOf(user));
    const provisioner = startProvisioner({ url: urlOf(PROVISIONER), logger, everyMs: 200 });
    ends.unshift(() => provisioner.stop());
    await provisioner.made;
    const login = (user: string, pass = passwordOf(user)) =>
      connect({ servers: nats.url, user, pass, inboxPrefix: `_INBOX.${user}`, reconnect: false });
    const admin = await login(ADMIN);
    ends.unshift(() => admin.close());
    const buses = new Map<Service, Bus>();
    for (const service of members) {
      const bus = await connectBus({ url: urlOf(service), service, logger });
      ends.unshift(() => bus.close());
      buses.set(service, bus);
    }
    const busOf = (service: Service) => buses.get(service) as Bus;
    Object.assign(fixture, { url: nats.url, urlOf, admin, busOf, login });
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return fixture;
}

/** As the ledger is told of one. */
export const aDeposit = () =>
  anEventOf('deposit.settled', aSettledDeposit({ account_id: 'acc', amount: '1', outpoint: 'o' }));
