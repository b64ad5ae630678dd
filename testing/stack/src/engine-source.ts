/**
 * TEST_ENGINES=containers: Postgres, NATS and Redis come from container images, and in a whole stack the chain nodes and
 * the services too; without it they are processes.
 */
export function fromContainers(): boolean {
  const wanted = process.env['TEST_ENGINES'];
  if (wanted === undefined || wanted === '') return false;
  if (wanted === 'containers') return true;
  throw new Error(`TEST_ENGINES is ${wanted}: it may be "containers", or not be set`);
}
