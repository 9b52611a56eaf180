import type { Command } from '../call.js';
import { openUpload } from './multipart-upload.js';

export const abortMultipartUpload: Command = {
  name: 'AbortMultipartUpload',
  scope: 'write',
  run: async (call) => {
    const { request, id } = await openUpload(call);
    await call.services.multipart.abort(request, id);
    return { status: 204 };
  },
};
