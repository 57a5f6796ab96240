export function Figure({ name, value, about, id }: { name: string; value: string; about?: string; id?: string }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd id={id}>{value}</dd>
      {about && <dd class="about">{about}</dd>}
    </div>
  );
}
