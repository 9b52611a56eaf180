/** Built files of these kinds are known by their address. */
declare module '*.svg' {
  const address: string;
  export default address;
}

declare module '*.css';
