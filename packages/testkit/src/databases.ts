import { randomBytes } from 'node:crypto';
import type { Service } from '@quittance/shared/events';
import { serviceUrl } from '@quittance/shared/migrate';
import pg from 'pg';

export const TEMPLATE = 'quittance_template';
/** The password of every service's role in tests. */
export const TEST_PASSWORD = 'test';

export type TestDatabase = {
  /** A superuser's URL of this database. */
  adminUrl: string;
  /** The URL a service connects with: its own role. */
  urlOf(service: Service): string;
  drop(): Promise<void>;
};

/** A database of its own for one suite, all services migrated: a copy of the template that the set-up made. */
export async function testDatabase(): Promise<TestDatabase> {
  const server = process.env['TEST_POSTGRES_URL'];
  if (server === undefined)
    throw new Error('no TEST_POSTGRES_URL: run this suite through jest’s global set-up');
  const name = `t_${randomBytes(8).toString('hex')}`;
  await onServer(server, `create database ${name} template ${TEMPLATE}`);
  const adminUrl = databaseUrl(server, name);
  return {
    adminUrl,
    urlOf: (service) => serviceUrl(adminUrl, service, TEST_PASSWORD),
    drop: () => onServer(server, `drop database if exists ${name} with (force)`),
  };
}

export function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

export async function onServer(server: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
