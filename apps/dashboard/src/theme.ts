import {
  type CSSVariablesResolver,
  createTheme,
  Drawer,
  type MantineColorsTuple,
  Modal,
  Tooltip,
} from '@mantine/core';

/** The button without a text that closes a dialog. */
const closable = { closeButtonProps: { 'aria-label': 'Close' } };

const blue: MantineColorsTuple = [
  '#eef2ff',
  '#dbe3fd',
  '#b4c4f8',
  '#8aa3f4',
  '#6687f0',
  '#4f75ee',
  '#2f5bea',
  '#2450d4',
  '#1c46be',
  '#0f3aa8',
];

export const theme = createTheme({
  primaryColor: 'quittance',
  // White is read badly on the paler ones.
  primaryShade: { light: 6, dark: 6 },
  autoContrast: true,
  colors: { quittance: blue },
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '650' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Modal: Modal.extend({ defaultProps: closable }),
    Drawer: Drawer.extend({ defaultProps: closable }),
    // No wider than the window: a long one moved the page sideways.
    Tooltip: Tooltip.extend({
      defaultProps: { multiline: true, maw: 'min(20rem, calc(100vw - 2rem))' },
      styles: { tooltip: { overflowWrap: 'anywhere' } },
    }),
  },
});

/** Texts that Mantine makes too pale to be read by everybody (WCAG asks for a contrast of 4.5). */
export const readableColors: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5c636a',
    '--mantine-color-placeholder': '#6b727a',
    '--mantine-color-green-light-color': '#1b6b2b',
    '--mantine-color-yellow-light-color': '#7a4f00',
  },
  dark: { '--mantine-color-dimmed': '#a3a3a3', '--mantine-color-placeholder': '#a3a3a3' },
});
