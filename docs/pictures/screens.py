# Opens the screens of the example in a browser, as a person uses them, and writes a picture of each page:
#
#   python3 screens.py ADDRESS FOLDER       ADDRESS: with the token that signs the browser in
#
# The browser is controlled over WebDriver, with chromedriver.
import base64, ctypes, json, os, re, shutil, signal, subprocess, sys, threading, time, urllib.request

address, folder = sys.argv[1:]
# What chromedriver leaves behind becomes a child of this process.
ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
for line in driver.stdout:
    port = re.search(r"started successfully on port (\d+)", line)
    if port: break
threading.Thread(target=driver.stdout.read, daemon=True).start()


def command(method, path, **body):
    data = json.dumps(body).encode() if method == "POST" else None
    request = urllib.request.Request("http://127.0.0.1:%s%s" % (port[1], path), data, method=method)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as answer: return json.load(answer)["value"]


def begin():
    arguments = ["--headless", "--disable-gpu", "--hide-scrollbars", "--window-size=900,700"]
    # Chromium's sandbox does not work for root.
    if os.getuid() == 0: arguments.append("--no-sandbox")
    wanted = {"goog:chromeOptions": {"binary": shutil.which("chromium-headless-shell"), "args": arguments}}
    return "/session/" + command("POST", "/session", capabilities={"alwaysMatch": wanted})["sessionId"]


def value(script): return command("POST", session + "/execute/sync", script="return " + script, args=[])


def wait(condition):
    for _ in range(600):
        if value("Boolean(%s)" % condition): return
        time.sleep(0.1)
    sys.exit("the page does not show what is waited for: " + condition)


def use(selector, action, **what):
    wait("document.querySelector(\"%s\")" % selector)
    found = command("POST", session + "/element", using="css selector", value=selector)
    for element in found.values(): command("POST", session + "/element/%s/%s" % (element, action), **what)


def click(selector): use(selector, "click")


def picture(name):
    # Until the images that are seen are there, and nothing moves.
    wait("[...document.images].every(image => image.complete || image.getBoundingClientRect().top > innerHeight)")
    wait("document.getAnimations().length === 0")
    path = os.path.join(folder, "screens-%s.png" % name)
    with open(path, "wb") as file: file.write(base64.b64decode(command("GET", session + "/screenshot")))
    print("drawn: docs/pictures/screens-%s.png" % name)


def borrow(title):
    click("a[href='/tabs/0']")
    wait("document.querySelector('input[type=search], .back')")
    if value("document.querySelector('.back')"): click(".back")
    wait("document.body.innerText.includes('%s')" % title)
    value("[...document.querySelectorAll('.list a')].find(link => link.innerText === '%s').click()" % title)
    wait("document.title === '%s'" % title)
    if title == "Moby-Dick": picture("book")
    click("button[value$='/borrow']")
    wait("document.title === 'Loans' && document.body.innerText.includes('%s')" % title)


try:
    session = begin()
    command("POST", session + "/url", url=address)
    wait("document.body.innerText.includes('Page 1 of') && document.images.length > 4")
    picture("catalogue")
    use("input[type=search]", "value", text="whale")
    wait("document.body.innerText.match(/^[0-9]+ books?$/m) && !document.querySelector('progress')")
    picture("search")
    borrow("Moby-Dick")
    borrow("The Cruise of the Cachalot")
    picture("loans")
    command("DELETE", session)
finally:
    driver.terminate()
    driver.wait()
    while True:
        with open("/proc/self/task/%d/children" % os.getpid()) as file: left = file.read().split()
        if not left: break
        for process in left: os.kill(int(process), signal.SIGKILL)
        os.wait()
