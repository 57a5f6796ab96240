// Headings that have all words, in the heading or in the page's title; headings of the words themselves first.
const root = document.currentScript.dataset.root,
  field = document.querySelector("#search"),
  found = document.querySelector("#found");
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length
    ? headings.filter(([page, heading]) => words.every((w) => (page + " " + heading).toLowerCase().includes(w)))
    : [];
  const inHeading = ([, heading]) => words.filter((w) => heading.toLowerCase().includes(w)).length;
  found.replaceChildren(
    ...hits
      .sort((a, b) => inHeading(b) - inHeading(a))
      .slice(0, 20)
      .map(([page, heading, address]) => {
        const item = document.createElement("li"),
          link = document.createElement("a");
        link.href = root + "/" + address;
        link.textContent = page === heading ? page : page + ": " + heading;
        item.append(link);
        return item;
      }),
  );
});
