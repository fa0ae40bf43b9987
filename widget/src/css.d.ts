declare module "*graph.css" {
  const text: string;
  export default text;
}
