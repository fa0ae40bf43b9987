//! What more threads bring on this machine at best: plain loops, which share nothing, on threads
//! that are awake; and how long one that sleeps takes to wake up.

use std::hint::{black_box, spin_loop};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A loop by name, which does the steps of a range.
type Loop<'l> = (&'static str, usize, &'l (dyn Fn(Range<usize>) + Sync));

/// How often each loop is timed.
const ROUNDS: usize = 15;

/// How often a thread is woken up.
const WAKES: usize = 100;

/// The medians of plain loops on one thread and on some, in milliseconds, by name.
pub fn loops(threads: usize) -> Vec<(&'static str, f64, f64)> {
    let small: Vec<u32> =
        (0..1 << 20).map(|number: u32| number.wrapping_mul(0x9e37_79b1)).collect();
    let large: Vec<u32> = (0..1 << 24).collect();
    let sum = |numbers: &[u32]| numbers.iter().map(|number| u64::from(*number)).sum::<u64>();
    let arithmetic = |steps: Range<usize>| {
        let mixed = |all: u64, step| (all ^ step as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1;
        black_box(steps.fold(1, mixed));
    };
    let looks = |steps: Range<usize>| {
        let at = |step: usize| small[step.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44];
        black_box(steps.fold(0, |all: u64, step| all + u64::from(at(step))));
    };
    let passes = |steps: Range<usize>| {
        for step in steps {
            // Each step is an eighth of a pass.
            let part = small.len() / 8;
            black_box(sum(&small[step % 8 * part..][..part]));
        }
    };
    let pass = |steps: Range<usize>| {
        black_box(sum(&large[steps]));
    };
    // Eight numbers that don't wait for each other keep all units of a core at work; two threads
    // that are one core's gain less here than above.
    let units = |steps: Range<usize>| {
        let mut numbers = [1_u64, 2, 3, 4, 5, 6, 7, 8];
        for step in steps {
            numbers.iter_mut().for_each(|it| *it = (*it ^ step as u64).wrapping_add(*it >> 7));
            black_box(&mut numbers);
        }
    };
    let counters = |steps: Range<usize>| {
        let mut counters = vec![0_u32; 8192];
        for step in steps {
            counters[step.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51] += 1;
        }
        black_box(&counters);
    };
    let loops: [Loop<'_>; 6] = [
        ("plain: arithmetic, one by one", 4_000_000, &arithmetic),
        ("plain: arithmetic, eight at once", 2_000_000, &units),
        ("plain: counters of 32 KB", 6_000_000, &counters),
        ("plain: looks at 4 MB, scattered", 4_000_000, &looks),
        ("plain: passes over 4 MB", 128, &passes),
        ("plain: a pass over 64 MB", large.len(), &pass),
    ];
    loops.map(|(name, steps, work)| (name, time(1, steps, work), time(threads, steps, work))).into()
}

/// The median time of a loop whose steps are divided among threads, in milliseconds. They wait for
/// each other in loops, so that none sleeps.
fn time(threads: usize, steps: usize, work: &(dyn Fn(Range<usize>) + Sync)) -> f64 {
    let (begun, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let part = |thread: usize| steps * thread / threads..steps * (thread + 1) / threads;
    let wait = |number: &AtomicUsize, least: usize| {
        while number.load(Ordering::Acquire) < least {
            spin_loop();
        }
    };
    let mut times = Vec::with_capacity(ROUNDS);
    thread::scope(|scope| {
        for thread in 1..threads {
            let (begun, done, wait, part) = (&begun, &done, &wait, &part);
            scope.spawn(move || {
                for round in 1..=ROUNDS {
                    wait(begun, round);
                    work(part(thread));
                    done.fetch_add(1, Ordering::AcqRel);
                }
            });
        }
        for round in 1..=ROUNDS {
            let started = Instant::now();
            begun.store(round, Ordering::Release);
            work(part(0));
            wait(&done, round * (threads - 1));
            times.push(started.elapsed());
        }
    });
    super::median(&mut times)
}

/// How long a thread that sleeps takes until it runs, while the one that wakes it goes on working:
/// the median and 90 of a hundred, in microseconds.
pub fn wakes() -> (f64, f64) {
    let (requested, woken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut times = Vec::with_capacity(WAKES);
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            for number in 1..=WAKES {
                while requested.load(Ordering::Acquire) < number {
                    thread::park();
                }
                woken.store(number, Ordering::Release);
            }
        });
        for number in 1..=WAKES {
            thread::sleep(Duration::from_millis(3));
            let started = Instant::now();
            requested.store(number, Ordering::Release);
            sleeper.thread().unpark();
            while woken.load(Ordering::Acquire) < number {
                spin_loop();
            }
            times.push(started.elapsed());
        }
    });
    times.sort_unstable();
    let at = |position: usize| times[position].as_secs_f64() * 1e6;
    (at(WAKES / 2), at(WAKES * 9 / 10))
}
