import { readyUrl } from './image-ready.ts';

// The health check of the image quittance/sandbox: ready, and the gateway says so of itself still. It runs every few seconds,
// so it imports next to nothing.
const WITHIN_MS = 2_500;

async function check(): Promise<void> {
  const url = readyUrl();
  if (url === '') return;
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(WITHIN_MS) });
  if (!response.ok) throw new Error(`the gateway is not ready: ${await response.text()}`);
}

check().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stdout.write(`${String(error)}\n`);
    process.exit(1);
  },
);
