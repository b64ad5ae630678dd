/** What engines in containers are, where no setting names other images. */
const official = { postgres: 'postgres:18', nats: 'nats:2.12', redis: 'redis:8' } as const;

/** The image that a setting names; an empty one names none. */
export const engineImage = (setting: string, engine: keyof typeof official): string =>
  process.env[setting] || official[engine];
