import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './less-motion.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './queries.ts';
import { router } from './router.tsx';
import { SessionGate } from './session/session-gate.tsx';
import { readableColors, theme } from './theme.ts';

// The policy of the page lets in style elements with the nonce of its script element alone.
const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';
setNonce(nonce);

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has an element with the id root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
      cssVariablesResolver={readableColors}
    >
      <Notifications position="bottom-right" />
      <QueryClientProvider client={queries}>
        <SessionGate>
          <RouterProvider router={router} />
        </SessionGate>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
