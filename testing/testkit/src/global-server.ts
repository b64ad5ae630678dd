type Server = { destroy(): Promise<void> };

let server: Server | undefined;

/** The one Postgres between the global set-up and the global tear-down, which jest loads as two modules. */
export function keepServer(postgres: Server): void {
  server = postgres;
}

export async function dropServer(): Promise<void> {
  await server?.destroy();
  server = undefined;
}
