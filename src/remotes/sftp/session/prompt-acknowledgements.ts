import type net from 'node:net';
import type { Client } from 'ssh2';
import { sendPayload } from '../wire/send-payload.js';

/** SSH_MSG_IGNORE (RFC 4253, 11.2) with an empty text: every side has to accept it, at any time. */
const IGNORE = Buffer.from([2, 0, 0, 0, 0]);

/**
 * Answers what arrives at once, with at most one small packet in each turn of the event loop. OpenSSH leaves Nagle's
 * algorithm on for a connection that only forwards: it holds small packets back until TCP has acknowledged the ones
 * before, and a system that has nothing to send delays that by 40 ms. Uploads through a jump host ran at 31 MiB/s.
 */
export function acknowledgePromptly(client: Client, socket: net.Socket): void {
  let hasAnswered = false;
  socket.on('data', () => {
    if (hasAnswered || !socket.writable) return;
    hasAnswered = true;
    setImmediate(() => (hasAnswered = false));
    sendPayload(client, IGNORE);
  });
}
