import { engineImage } from './official-images.ts';

/* What the engines of the project's own suites are made of with TEST_ENGINES=containers. */

export const postgresImage = (): string => engineImage('TEST_POSTGRES_IMAGE', 'postgres');
export const natsImage = (): string => engineImage('TEST_NATS_IMAGE', 'nats');
export const redisImage = (): string => engineImage('TEST_REDIS_IMAGE', 'redis');
