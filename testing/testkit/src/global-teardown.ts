import { dropServer } from './global-server.ts';

/** After all suites: the Postgres of the set-up and its data go. */
export default async function tearDown(): Promise<void> {
  await dropServer();
}
