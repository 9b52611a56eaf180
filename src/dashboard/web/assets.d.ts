/** The build replaces imports of these files with their addresses. */
declare module '*.svg' {
  const address: string;
  export default address;
}

declare module '*.css';
