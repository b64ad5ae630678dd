import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `npm start` answers, for `vite` while somebody develops. */
const GATEWAY = 'http://localhost:8400';

export default defineConfig({
  base: '/dashboard/',
  plugins: [react()],
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
