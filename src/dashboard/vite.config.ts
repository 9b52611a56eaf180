/** Builds the dashboard to dist/dashboard, every text file with a brotli and a gzip copy beside it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const outDir = fileURLToPath(new URL('../../dist/dashboard', import.meta.url));

function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    closeBundle() {
      for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(html|js|css|svg)$/.test(name)) continue;
        const plain = readFileSync(join(outDir, name));
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
        writeFileSync(join(outDir, `${name}.br`), brotliCompressSync(plain, { params: quality }));
        writeFileSync(join(outDir, `${name}.gz`), gzipSync(plain, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  root: fileURLToPath(new URL('./web', import.meta.url)),
  logLevel: 'warn',
  build: {
    outDir,
    emptyOutDir: true,
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // Small files as data: URLs would need a wider content security policy.
    assetsInlineLimit: 0,
    // The browsers above have it built in.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Marks of server rendering, which there is none of here.
      onLog: (level, log, show) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && show(level, log),
    },
  },
  plugins: [precompress()],
});
