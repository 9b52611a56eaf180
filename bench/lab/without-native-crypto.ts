/** Loaded before a gateway: hides the native parts of ssh2, as after an installation without a compiler. */
import Module from 'node:module';

const NATIVE = /(?:sshcrypto|cpufeatures)\.node$/;

type Load = (this: unknown, request: string, ...more: unknown[]) => unknown;
const loader = Module as unknown as { _load: Load };
const load = loader._load;
loader._load = function (request, ...more) {
  if (NATIVE.test(request)) throw new Error(`${request} was not built`);
  return load.call(this, request, ...more);
};
