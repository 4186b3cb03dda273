// Checks the pages in a folder in Chromium; called by scripts/pages.
//
//   node scripts/browser/pages.cjs CHROMIUM PAGES PICTURES
'use strict';
const { readdirSync, readFileSync, writeFileSync, rmSync } = require('fs');
const { join } = require('path');
const puppeteer = require('puppeteer-core');

const [chromium, pages, pictures] = process.argv.slice(2);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const WIDTHS = [1280, 360];
const THEMES = ['light', 'dark'];
const count = { passed: 0, failed: 0 };

// Runs in the page: one sentence for each fault of its layout.
function layout() {
  const faults = [];
  const say = (what, text) => faults.push(`${what}: ${text.trim().replace(/\s+/g, ' ').slice(0, 70)}`);
  const parts = colour => (colour.match(/[\d.]+/g) || []).map(Number);
  const bright = colour => parts(colour).slice(0, 3).map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0.05);
  const contrast = (one, other) => {
    const [low, high] = [bright(one), bright(other)].sort((a, b) => a - b);
    return high / low;
  };
  const wide = document.scrollingElement.scrollWidth;
  if (wide > innerWidth) say('the page scrolls sideways', `${wide} of ${innerWidth} px`);
  for (const node of document.querySelectorAll('h1,h2,p,li,caption,th,td,summary')) {
    const style = getComputedStyle(node), text = node.textContent;
    if (!node.getClientRects().length) continue;
    if (node.scrollWidth > node.clientWidth + 1 && !/caption|inline/.test(style.display)) say('clipped', text);
    if (parseFloat(style.fontSize) < 12) say('small', text);
    if (style.position === 'sticky' && node.offsetWidth > innerWidth / 2) say('covers half', text);
  }
  // A table outside of folded details fits; one inside may scroll by itself.
  for (const node of document.querySelectorAll('.table'))
    if (!node.closest('details') && node.scrollWidth > node.clientWidth + 1)
      say('table scrolls', `${node.scrollWidth} of ${node.clientWidth} px, ${node.textContent}`);
  for (const svg of document.querySelectorAll('svg')) {
    if (!svg.getClientRects().length) continue;
    const frame = svg.getBoundingClientRect(), scale = frame.width / svg.viewBox.baseVal.width;
    if (frame.left < 0 || frame.right > innerWidth + 0.5) say('chart leaves the screen', svg.textContent);
    const ground = getComputedStyle(svg.querySelector('.paper')).fill;
    const texts = [...svg.querySelectorAll('text')].map(node => {
      const { left, top, right, bottom } = node.getBoundingClientRect(), style = getComputedStyle(node);
      const text = [...node.childNodes].filter(child => child.nodeType === 3).map(child => child.data).join('');
      if (parseFloat(style.fontSize) * scale < 11) say('small', text);
      if (contrast(style.fill, ground) < 4.5) say('pale', text);
      if (left < frame.left || top < frame.top || right > frame.right + 0.5 || bottom > frame.bottom + 0.5)
        say('leaves its chart', text);
      return { left, top: top + 1, right, bottom: bottom - 1, text };
    });
    texts.forEach((one, index) => {
      for (const other of texts.slice(index + 1))
        if (one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom)
          say('overlap', `${one.text} / ${other.text}`);
    });
    for (const name of unnamed(svg)) say('a best card has no name', name);
  }
  return faults;

  // Marks of a scatter that no other beats in both directions, and whose name stands nowhere in the chart.
  function unnamed(svg) {
    const marks = [...svg.querySelectorAll('.mark')].filter(node => node.querySelector('title'));
    const places = marks.map(node => {
      const { left, right, top, bottom } = node.getBoundingClientRect();
      return { x: (left + right) / 2, y: (top + bottom) / 2, name: node.querySelector('title').textContent };
    });
    if (!svg.querySelector('title').textContent.includes('up and right')) return [];
    const beats = (a, b) => a.x >= b.x && a.y <= b.y && (a.x > b.x + 0.1 || a.y < b.y - 0.1);
    const best = places.filter(one => !places.some(other => beats(other, one)));
    const plane = svg.querySelector('.axis').getBoundingClientRect();
    const inside = [...svg.querySelectorAll('text.small:not(.dim)')].filter(text => {
      const { top, bottom } = text.getBoundingClientRect();
      return top >= plane.top - 1 && bottom <= plane.bottom + 1;
    });
    const written = inside.map(text => {
      const tip = text.querySelector('title');
      return tip ? tip.textContent : text.textContent;
    });
    return best.map(one => one.name).filter(name => !written.includes(name));
  }
}

// Serious and critical findings of axe-core: contrast of the text, names, structure.
async function accessibility(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await window.axe.run(document)).violations);
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => `${id}: ${help} (${nodes.length}, such as ${nodes[0].html.slice(0, 90)})`);
}

function report(name, check, faults) {
  const isGood = faults.length === 0;
  count[isGood ? 'passed' : 'failed'] += 1;
  console.log(`${isGood ? 'ok  ' : 'FAIL'} ${name} ${check}`);
  faults.forEach(fault => console.log(`     ${fault}`));
}

async function open(browser, file, width, theme) {
  const page = await browser.newPage();
  await page.setViewport({ width, height: 844 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await page.goto(`file://${file}`);
  await page.evaluate(() => document.querySelectorAll('details').forEach(node => { node.open = true; }));
  return page;
}

// The checks find what is wrong with a page that has every fault.
async function control(browser) {
  const file = join(pages, 'faulty.htm');
  const mark = (x, y, name) => `<circle class="mark" cx="${x}" cy="${y}" r="2"><title>${name}</title></circle>`;
  writeFileSync(file, `<!doctype html><html><body><p style="width:2000px">wide</p><p style="color:#ccc">pale</p>
    <p style="font-size:8px">tiny</p><p style="width:20px;overflow:hidden">cannotbebroken</p>
    <div class="table" style="width:99px;overflow:auto"><div style="width:200px">rows</div></div>
    <svg viewBox="0 0 100 50" width="100" height="50"><title>up and right</title>
    <rect class="paper" fill="#ffffff" width="100" height="50"/><line class="axis" x1="1" x2="1" y1="0" y2="50" stroke="red"/>
    <text x="80" y="20">leaving</text><text x="2" y="40">under</text><text x="9" y="44">over</text>
    ${mark(90, 5, 'best card')}${mark(9, 9, 'other card')}</svg></body></html>`);
  const page = await open(browser, file, 360, 'light');
  const found = [...await page.evaluate(layout), ...await accessibility(page)].join('\n');
  await page.close();
  rmSync(file);
  const expected = ['scrolls sideways: 20', 'small: tiny', 'clipped: cannotbe', 'table scrolls: 200 of 99',
    'leaves its chart: leaving', 'overlap: under / over', 'a best card has no name: best card', 'color-contrast'];
  const missing = expected.filter(fault => !found.includes(fault));
  if (found.includes('other card')) missing.push('that only the best card needs a name');
  report('control', 'the checks find known faults', missing.map(fault => `not found: ${fault}`));
}

(async () => {
  const browser = await puppeteer.launch({
    executablePath: chromium,
    args: ['--no-sandbox', '--disable-gpu', '--hide-scrollbars'],
  });
  await control(browser);
  for (const file of readdirSync(pages).filter(name => name.endsWith('.html')).sort()) {
    for (const width of WIDTHS) {
      for (const theme of THEMES) {
        const name = `${file.replace('.html', '')} ${width} ${theme}`;
        const page = await open(browser, join(pages, file), width, theme);
        await page.screenshot({ path: join(pictures, `${name.replaceAll(' ', '-')}.png`), fullPage: true });
        report(name, 'layout', await page.evaluate(layout));
        report(name, 'axe-core', await accessibility(page));
        await page.close();
      }
    }
  }
  await browser.close();
  console.log(`${count.passed} passed, ${count.failed} failed; pictures in ${pictures}`);
  process.exit(count.failed ? 1 : 0);
})().catch(error => {
  console.error(`error: ${error.message}`);
  process.exit(3);
});
