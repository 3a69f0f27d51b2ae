import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { firstPaint } from './first-paint.ts';

/** `npm run dev -w console` sends what it asks to a service started beside it. */
const SERVICE = process.env['DBVITALS_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react(), firstPaint()],
  build: {
    // Supported by all four: light-dark() and CSS nesting, which tokens.css and the parts stand on.
    target: ['chrome125', 'edge125', 'firefox126', 'safari17.5'],
    // The policy allows images as data: URLs, but one file a thing is what caches.
    assetsInlineLimit: 0,
  },
  server: { proxy: { '/console/api': { target: SERVICE, changeOrigin: true } } },
});
