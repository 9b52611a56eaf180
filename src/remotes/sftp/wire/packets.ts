/**
 * Cuts buffers to SSH packets: small pieces are copied together, so that each does not become a packet of its own;
 * what fills packets alone is passed on uncopied (ssh2 cuts it).
 */
export function* fillPackets(pieces: readonly Buffer[], packetBytes: number): Generator<Buffer> {
  let crumbs: Buffer[] = [];
  let crumbBytes = 0;
  for (const piece of pieces) {
    let rest = piece;
    if (crumbBytes > 0 && crumbBytes + rest.length >= packetBytes) {
      const filler = packetBytes - crumbBytes;
      yield Buffer.concat([...crumbs, rest.subarray(0, filler)], packetBytes);
      rest = rest.subarray(filler);
      crumbs = [];
      crumbBytes = 0;
    }
    const whole = crumbBytes > 0 ? 0 : rest.length - (rest.length % packetBytes);
    if (whole > 0) yield rest.subarray(0, whole);
    if (whole === rest.length) continue;
    crumbs.push(rest.subarray(whole));
    crumbBytes += rest.length - whole;
  }
  if (crumbBytes > 0) yield Buffer.concat(crumbs, crumbBytes);
}
