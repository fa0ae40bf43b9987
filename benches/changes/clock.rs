//! Times of calls, and of the processor.

use std::time::{Duration, Instant};

/// How long a question is asked in one turn.
const TURN: Duration = Duration::from_millis(35);

/// Two ways are asked in turns, so that both meet the machine as it is.
const TURNS: usize = 4;

/// A question is asked so often in a turn at least.
const CALLS: u64 = 3;

/// The medians of two calls that take a number which changes.
pub fn pair(one: impl Fn(u64), other: impl Fn(u64)) -> (Duration, Duration) {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for turn in 0..TURNS as u64 {
        turn_of(&one, turn, &mut ones);
        turn_of(&other, turn, &mut others);
    }
    (median(&mut ones), median(&mut others))
}

fn turn_of(call: impl Fn(u64), turn: u64, times: &mut Vec<Duration>) {
    // The first call of a turn finds the caches of the other.
    call(turn * 7);
    let started = Instant::now();
    for number in turn * 13.. {
        let one = Instant::now();
        call(number);
        times.push(one.elapsed());
        if turn * 13 + CALLS <= number && TURN < started.elapsed() {
            return;
        }
    }
}

/// The median of some times, which get sorted.
pub fn median(times: &mut [Duration]) -> Duration {
    at(times, 50)
}

/// The time that `percent` of some times, which get sorted, do not exceed.
pub fn at(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times.get((times.len().max(1) - 1) * percent / 100).copied().unwrap_or_default()
}

/// The processor time of all threads of the process, in steps of 10 ms.
pub fn of_process() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux tells it");
    let behind_name = text.rsplit_once(')').expect("the name is in brackets").1;
    let fields = behind_name.split_whitespace().skip(11).take(2);
    let ticks: u64 = fields.map(|field| field.parse::<u64>().expect("it is a number")).sum();
    Duration::from_millis(ticks * 10)
}

/// The processor time of this thread.
pub fn of_thread() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    let first = text.split_whitespace().next().expect("it has three numbers");
    Duration::from_nanos(first.parse().expect("it is a number"))
}

/// The memory that the process has, in bytes.
pub fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux tells it");
    let pages = text.split_whitespace().nth(1).expect("it has seven numbers");
    pages.parse::<u64>().expect("it is a number") * 4096
}
