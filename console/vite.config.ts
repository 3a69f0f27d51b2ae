import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { firstPaint, preloadFont } from './first-paint.ts';

/** `npm run dev -w console` sends API requests to this running service. */
const SERVICE = process.env['DBVITALS_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react(), preloadFont(), firstPaint()],
  // The service writes its base path into index.html (serve-pages.ts). All other files use relative paths.
  base: './',
  build: {
    // The first versions that support light-dark() and CSS nesting, which tokens.css and the parts use.
    target: ['chrome125', 'edge125', 'firefox126', 'safari17.5'],
    // The policy allows data: URLs for images, but separate files cache better.
    assetsInlineLimit: 0,
  },
  server: { proxy: { '/console/api': { target: SERVICE, changeOrigin: true } } },
});
