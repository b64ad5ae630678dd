import { randomBytes } from 'node:crypto';
import { type Parts, processes } from './parts.ts';

/** TEST_ENGINES=containers: Postgres, NATS and Redis of integration suites come from container images; otherwise they are processes. */
function fromContainers(): boolean {
  const wanted = process.env['TEST_ENGINES'];
  if (wanted === undefined || wanted === '') return false;
  if (wanted === 'containers') return true;
  throw new Error(`TEST_ENGINES is ${wanted}: it may be "containers", or not be set`);
}

/** How the engines of a suite are started. Ordinary runs neither load testcontainers nor need a Docker engine. */
export async function suiteEngines(): Promise<Pick<Parts, 'postgres' | 'nats' | 'redis'>> {
  if (!fromContainers()) return processes;
  const { containerEngines } = await import('./container-engines.ts');
  const { CONTAINER_NAMES } = await import('./container-images.ts');
  return containerEngines(`${CONTAINER_NAMES}${randomBytes(4).toString('hex')}-`);
}
