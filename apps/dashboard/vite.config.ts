import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Where `npm start` answers, for `vite` while somebody develops. */
const GATEWAY = 'http://localhost:8400';

/** Each file once more, as small as brotli makes it: that takes too long for a gateway that starts. */
const brotliFiles: Plugin = {
  name: 'brotli-files',
  apply: 'build',
  async writeBundle({ dir = '' }, bundle) {
    const compress = promisify(brotliCompress);
    const write = async (name: string) =>
      writeFile(join(dir, `${name}.br`), await compress(await readFile(join(dir, name))));
    await Promise.all(
      Object.keys(bundle)
        .filter((name) => name.startsWith('assets/'))
        .map(write),
    );
  },
};

export default defineConfig({
  base: '/dashboard/',
  plugins: [react(), brotliFiles],
  build: {
    target: 'es2023',
    // The policy of the page allows scripts in files alone.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // What a first visit loads is limited by a test, compressed.
    chunkSizeWarningLimit: 1_000,
  },
  server: {
    // The gateway wants the Origin of its own pages.
    proxy: { '/api': { target: GATEWAY, changeOrigin: true, headers: { origin: GATEWAY } } },
  },
});
