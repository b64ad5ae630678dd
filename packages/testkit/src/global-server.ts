import type { PostgresHandle } from '@quittance/engines/postgres';

let server: PostgresHandle | undefined;

/** The one Postgres between the global set-up and the global tear-down, which jest loads as two modules. */
export function keepServer(postgres: PostgresHandle): void {
  server = postgres;
}

export async function dropServer(): Promise<void> {
  await server?.destroy();
  server = undefined;
}
